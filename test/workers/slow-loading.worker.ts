/** Takes its time to load, and says on a channel that it has. */
import { BroadcastChannel } from 'node:worker_threads'

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
const channel = new BroadcastChannel('slow-loading')
channel.postMessage('loaded')
channel.close()

export default function run(): void {
  // Nothing to do: it is the loading that counts.
}
