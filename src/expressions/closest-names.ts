/** The names a person may have meant who wrote one that does not exist. */

/** Longer names are compared by their start: schemas are hostile input, and the distance is quadratic. */
const MAX_CHARS_COMPARED = 64

/** At most `count` of the candidates, those with the fewest letters to change first; case does not count. */
export function closestNames(name: string, candidates: Iterable<string>, count: number): string[] {
  const wanted = comparable(name)
  const rated = Array.from(candidates, (candidate) => ({
    candidate,
    distance: editDistance(wanted, comparable(candidate)),
  }))
  rated.sort((a, b) => a.distance - b.distance)
  return rated.slice(0, count).map(({ candidate }) => candidate)
}

function comparable(name: string): string {
  return name.slice(0, MAX_CHARS_COMPARED).toLowerCase()
}

/** Letters to insert, delete or replace (Levenshtein), row by row. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, previous[j] + 1, row[j - 1] + 1))
    }
    previous = row
  }
  return previous[b.length]
}
