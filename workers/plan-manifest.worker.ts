/**
 * The door of a worker thread: a job comes in, `DecodeWorker` runs it, its batch goes out. It opens no file and loads
 * neither avsc nor any storage client.
 */
import { DecodeWorker, type WorkerAnswer, type WorkerJob } from '../src/planner/decode-job.ts'
import { type PostedTask, runPosted } from '../src/pool/messages.ts'

const worker = new DecodeWorker()

export default function run(posted: PostedTask<WorkerJob>): void {
  runPosted(
    posted,
    (job) => worker.run(job),
    (answer: WorkerAnswer) => (answer.kind === 'batch' ? [answer.batch.buffer] : []),
  )
}
