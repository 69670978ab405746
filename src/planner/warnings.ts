/**
 * Sentences about what is odd in a table but plans safely. Of one kind the first few are kept and the rest counted,
 * so that a table with 10,000 wrong lengths does not bury the one warning that matters.
 */
const KEPT_PER_KIND = 10

export class Warnings {
  readonly #sentences: string[] = []
  readonly #countByKind = new Map<string, number>()

  /** @param kind what the sentences have in common, as a phrase: it names the rest in the summary */
  add(kind: string, sentence: string): void {
    const count = (this.#countByKind.get(kind) ?? 0) + 1
    this.#countByKind.set(kind, count)
    if (count <= KEPT_PER_KIND) this.#sentences.push(sentence)
  }

  /** All kept sentences, then one per kind of which some were left out. */
  list(): string[] {
    const more = [...this.#countByKind]
      .filter(([, count]) => count > KEPT_PER_KIND)
      .map(([kind, count]) => `${count - KEPT_PER_KIND} more of the kind: ${kind}.`)
    return [...this.#sentences, ...more]
  }
}
