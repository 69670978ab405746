/**
 * A progress bar on stderr, for people only: nothing is written to a pipe, or for a run that is over in a moment.
 */
import type { StandardStream } from './run.ts'

export interface Progress {
  /** @param note what has been found so far */
  update(done: number, total: number, note?: string): void
  /** Takes the bar away; to be called before anything else is written to the terminal, and at the end. */
  stop(): void
}

const SILENT: Progress = {
  update: () => undefined,
  stop: () => undefined,
}

/** A bar that comes and goes within this time is only a flicker. */
const DELAY_MS = 300

/** @param isWanted false where results go to the same terminal line by line */
export async function startProgress(stream: StandardStream, isWanted = true): Promise<Progress> {
  if (stream.isTTY !== true || !isWanted) return SILENT
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar(
    {
      stream,
      format: '{bar} {value} of {total} files{note}',
      clearOnComplete: true,
      fps: 8,
      barsize: 30,
    },
    cliProgress.Presets.shades_classic,
  )
  const startedAt = performance.now()
  let isShown = false
  return {
    update(done, total, note) {
      const payload = { note: note === undefined ? '' : `, ${note}` }
      if (isShown) {
        bar.setTotal(total)
        bar.update(done, payload)
      } else if (performance.now() - startedAt >= DELAY_MS) {
        isShown = true
        bar.start(total, done, payload)
      }
    },
    stop() {
      if (isShown) bar.stop()
      isShown = false
    },
  }
}
