/** The worker of the product, which dies of manifests whose name says so. */
import { DecodeWorker, type WorkerAnswer, type WorkerJob } from '../../src/planner/decode-job.ts'
import { type PostedTask, runPosted } from '../../src/pool/messages.ts'

const worker = new DecodeWorker()

export default function run(posted: PostedTask<WorkerJob>): void {
  if (posted.task.manifests.rows.paths.some((path) => path.includes('deadly'))) process.exit(9)
  runPosted(
    posted,
    (job) => worker.run(job),
    (answer: WorkerAnswer) => (answer.kind === 'batch' ? [answer.batch.buffer] : []),
  )
}
