/** A thread that loads the module it is told to, and says so. */
import { parentPort, workerData } from 'node:worker_threads'

await import(workerData as string)
parentPort?.postMessage('loaded')
