/**
 * Interleaved timing: every round runs each subject of a group once, so that a noisy minute hurts all alike, and
 * medians are compared. Ratios between subjects of one group are the result; absolute times are context.
 */

/** What one run gives. */
export interface Outcome {
  /** What the run computed, so that nothing can be optimised away and subjects can be compared. */
  checksum: number
  /** The figure, if it is not the time the run took. */
  value?: number
  /** What else there is to say of the run; that of the last round is printed. */
  note?: string
}

export interface Subject {
  /** The name of the case: `group/subject`. */
  name: string
  /** Default `ms`. */
  unit?: string
  run: () => Outcome | Promise<Outcome>
  /** Subjects with equal labels must have equal checksums; default: all subjects of the group. */
  agreesWith?: string
}

export interface Result {
  name: string
  unit: string
  rounds: number
  median: number
  /** The middle half of the rounds lies between these two. */
  quartiles: [number, number]
  minimum: number
  checksum: number
  note?: string
}

/**
 * Runs all subjects `warmUps + rounds` times, interleaved; the warm-ups are not counted.
 *
 * @throws Error if a subject's checksum changes between rounds, or differs from one that it must agree with
 */
export async function measure(
  subjects: readonly Subject[],
  { rounds, warmUps }: { rounds: number; warmUps: number },
): Promise<Result[]> {
  const values = subjects.map((): number[] => [])
  const notes = subjects.map((): string | undefined => undefined)
  const checksums = new Map<string, { checksum: number; name: string }>()
  for (let round = -warmUps; round < rounds; round++) {
    for (const [i, subject] of subjects.entries()) {
      const start = performance.now()
      const { checksum, value, note } = await subject.run()
      const elapsed = performance.now() - start
      checkAgreement(checksums, subject, checksum)
      if (round >= 0) values[i].push(value ?? elapsed)
      notes[i] = note
    }
  }
  return subjects.map((subject, i) => ({
    name: subject.name,
    unit: subject.unit ?? 'ms',
    rounds,
    ...summarize(values[i]),
    checksum: checksums.get(subject.agreesWith ?? '')!.checksum,
    ...(notes[i] === undefined ? {} : { note: notes[i] }),
  }))
}

function checkAgreement(
  checksums: Map<string, { checksum: number; name: string }>,
  { name, agreesWith = '' }: Subject,
  checksum: number,
): void {
  const first = checksums.get(agreesWith)
  if (first === undefined) checksums.set(agreesWith, { checksum, name })
  else if (first.checksum !== checksum) {
    throw new Error(`Cannot compare ${name} (checksum ${checksum}) with ${first.name} (${first.checksum})`)
  }
}

function summarize(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => {
    const place = (sorted.length - 1) * share
    const below = Math.floor(place)
    return sorted[below] + (place - below) * (sorted[Math.ceil(place)] - sorted[below])
  }
  return { median: at(0.5), quartiles: [at(0.25), at(0.75)] as [number, number], minimum: sorted[0] }
}
