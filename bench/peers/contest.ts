/**
 * Peers beside each other on one table and filter: all processes are alive, and every round runs each of them once,
 * beginning with another one. Numbers of tasks and deletes are compared before a time counts.
 */
import type { Peer } from './peer-table.ts'
import { type MeasuredAnswer, PeerProcess } from './peer-process.ts'

export interface ContestOptions {
  metadataLocation: string
  /** As on a peer's command line. */
  filter: string
  rounds: number
  /** Replaces the peers' own numbers of warm-up rounds. */
  warmUps?: number | undefined
  /**
   * A peer whose warm-ups, or counted rounds, have taken so long sits the others out, but runs once at least. One
   * plan may take {@link PATIENCE} times that.
   */
  budgetMs: number
}

export interface Standing {
  peer: string
  /** As in the table of peers. */
  keeps?: string
  /** Why the peer has no times. */
  failure?: string
  /** What it planned otherwise than the reference did; its times are then not comparable. */
  difference?: string
  /** Counted ones; fewer than asked for if the budget was used up. */
  rounds: number
  tasks: number
  deletes: number
  medianMs: number
  /** The middle half of the rounds lies between these two. */
  quartilesMs: [number, number]
  /** Undefined: there were no tasks. */
  firstTaskMs: number | undefined
  /** Processor time of a plan, over all threads; undefined: not known. */
  cpuMs: number | undefined
  /** The most that was seen after a plan; undefined: not known. */
  rssMiB: number | undefined
}

/**
 * Runs the peers and gives their standings in the same order. The first peer is the reference for what there is to plan.
 *
 * @throws Error if the reference fails
 */
export async function contest(peers: readonly Peer[], options: ContestOptions): Promise<Standing[]> {
  const contestants = peers.map((peer) => new Contestant(peer, options))
  try {
    // One after the other, so that no one's start is slowed down into the time limit.
    for (const contestant of contestants) await contestant.start()
    await runRounds(contestants, options.rounds)
  } finally {
    for (const contestant of contestants) await contestant[Symbol.asyncDispose]()
  }
  const standings = contestants.map((contestant) => contestant.standing())
  const [reference] = standings
  if (reference.failure !== undefined)
    throw new Error(`Cannot compare with ${reference.peer}: ${reference.failure}`)
  return standings.map((standing) => compareWith(reference, standing))
}

async function runRounds(contestants: readonly Contestant[], rounds: number): Promise<void> {
  const warmUps = Math.max(...contestants.map((contestant) => contestant.warmUps))
  for (let round = -warmUps; round < rounds; round++) {
    const first = (round + warmUps) % contestants.length
    for (let i = 0; i < contestants.length; i++) {
      const contestant = contestants[(first + i) % contestants.length]
      if (round >= -contestant.warmUps) await contestant.run(round < 0 ? 'warm-up' : 'counted')
    }
  }
}

function compareWith(reference: Standing, standing: Standing): Standing {
  if (standing.failure !== undefined) return standing
  const parts = (['tasks', 'deletes'] as const).flatMap((name) =>
    standing[name] === reference[name]
      ? []
      : [`${format(standing[name])} ${name} instead of ${format(reference[name])}`],
  )
  return parts.length === 0 ? standing : { ...standing, difference: parts.join(', ') }
}

const format = (count: number) => count.toLocaleString('en-US')

const PATIENCE = 4

type Phase = 'warm-up' | 'counted'

class Contestant implements AsyncDisposable {
  readonly #peer: Peer
  readonly #options: ContestOptions
  readonly #spentMs = { 'warm-up': 0, counted: 0 }
  readonly #answers: MeasuredAnswer[] = []
  #process: PeerProcess | undefined
  #failure: string | undefined
  #rssMiB: number | undefined

  constructor(peer: Peer, options: ContestOptions) {
    this.#peer = peer
    this.#options = options
  }

  get warmUps(): number {
    return this.#options.warmUps ?? this.#peer.warmUps
  }

  async start(): Promise<void> {
    const { metadataLocation, filter } = this.#options
    await this.#attempt(async () => {
      const {
        command: [...command],
        flags = [],
      } = this.#peer
      command.push(metadataLocation, filter, ...flags)
      this.#process = await PeerProcess.start(command, START_TIMEOUT_MS)
    })
  }

  async run(phase: Phase): Promise<void> {
    const { budgetMs } = this.#options
    const running = this.#process
    if (running === undefined || this.#spentMs[phase] > budgetMs) return
    await this.#attempt(async () => {
      const answer = await running.plan(budgetMs * PATIENCE)
      this.#spentMs[phase] += answer.ms
      if (answer.rssMiB !== null) this.#rssMiB = Math.max(this.#rssMiB ?? 0, answer.rssMiB)
      if (phase === 'counted') this.#answers.push(answer)
      const [first] = this.#answers
      if (phase === 'counted' && !samePlan(first, answer))
        throw new Error(`it planned ${answer.tasks} tasks and before ${first.tasks}`)
    })
  }

  standing(): Standing {
    const answers = this.#answers
    const medianOf = (name: 'cpuMs' | 'firstTaskMs') => {
      const values = answers.flatMap((answer) => answer[name] ?? [])
      return values.length === 0 ? undefined : quartiles(values)[1]
    }
    const [q1, median, q3] = quartiles(answers.map(({ ms }) => ms))
    return {
      peer: this.#peer.name,
      ...(this.#peer.keeps === undefined ? {} : { keeps: this.#peer.keeps }),
      ...(this.#failure === undefined ? {} : { failure: this.#failure }),
      rounds: answers.length,
      tasks: answers.at(0)?.tasks ?? 0,
      deletes: answers.at(0)?.deletes ?? 0,
      medianMs: median,
      quartilesMs: [q1, q3],
      firstTaskMs: medianOf('firstTaskMs'),
      cpuMs: medianOf('cpuMs'),
      rssMiB: this.#rssMiB,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]()
    this.#process = undefined
  }

  /** A peer that fails takes part no more; the others go on. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
      await this[Symbol.asyncDispose]()
    }
  }
}

function samePlan(a: MeasuredAnswer, b: MeasuredAnswer): boolean {
  return a.tasks === b.tasks && a.deletes === b.deletes && a.records === b.records
}

/** A JVM, and a Python that imports pandas, take seconds. */
const START_TIMEOUT_MS = 60_000

/** First quartile, median, third quartile; NaN of nothing. */
function quartiles(values: readonly number[]): [number, number, number] {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => {
    const place = (sorted.length - 1) * share
    const below = Math.floor(place)
    return sorted[below] + (place - below) * (sorted[Math.ceil(place)] - sorted[below])
  }
  return [at(0.25), at(0.5), at(0.75)]
}
