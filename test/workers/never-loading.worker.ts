/** Never comes to an end of its loading. */
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

export default function run(): void {
  throw new Error('This thread has loaded')
}
