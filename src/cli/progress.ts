/**
 * A progress bar on stderr, for people only: nothing is written to a pipe, or for a run that is over in a moment.
 */
import type { SingleBar } from 'cli-progress'
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

/**
 * The package behind the bar is loaded when the bar is first shown.
 *
 * @param isWanted false where results go to the same terminal line by line
 */
export function startProgress(stream: StandardStream, isWanted = true): Progress {
  if (stream.isTTY !== true || !isWanted) return SILENT
  const startedAt = performance.now()
  let state: Shown | undefined
  let bar: SingleBar | undefined
  let isStopped = false
  const load = async (): Promise<void> => {
    const { default: cliProgress } = await import('cli-progress')
    // A plan may have ended meanwhile.
    if (isStopped || state === undefined) return
    bar = new cliProgress.SingleBar(
      {
        stream,
        format: '{bar} {value} of {total} files{note}',
        clearOnComplete: true,
        fps: 8,
        barsize: 30,
      },
      cliProgress.Presets.shades_classic,
    )
    bar.start(state.total, state.done, state.payload)
  }
  return {
    update(done, total, note) {
      if (state === undefined && performance.now() - startedAt < DELAY_MS) return
      const isFirst = state === undefined
      state = { done, total, payload: { note: note === undefined ? '' : `, ${note}` } }
      // Nobody misses a bar that cannot be loaded.
      if (isFirst) load().catch(() => undefined)
      bar?.setTotal(total)
      bar?.update(done, state.payload)
    },
    stop() {
      isStopped = true
      bar?.stop()
      bar = undefined
    },
  }
}

/** What the bar tells. */
interface Shown {
  readonly done: number
  readonly total: number
  readonly payload: { readonly note: string }
}
