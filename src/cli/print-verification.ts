/**
 * What a verification found, for people and as JSON.
 */
import type { VerifySummary } from '../index.ts'
import { kebabKeys } from './report-json.ts'
import type { JsonRecord } from './task-json.ts'
import type { Colors } from './text.ts'
import { formatCount, labelled, plural, printable } from './text.ts'

/** True if both readers read every file and agreed. A file that avsc refuses says nothing against ours. */
export function isClean({ differenceCount, unreadable }: VerifySummary): boolean {
  return differenceCount === 0 && unreadable.length === 0
}

export function verificationToJson(summary: VerifySummary): JsonRecord {
  return kebabKeys({
    ...summary,
    differences: summary.differences.map((difference) => ({
      ...difference,
      entry: difference.entry ?? null,
    })),
    refused: summary.refused.map((file) => ({ ...file })),
    unreadable: summary.unreadable.map((file) => ({ ...file })),
  })
}

/** Counts, then what is wrong, then the verdict. */
export function formatVerification(summary: VerifySummary, name: string, colors: Colors): string {
  const { differences, differenceCount, refused, unreadable } = summary
  const counts = labelled(
    [
      ['manifest lists', formatCount(summary.manifestLists)],
      ['manifests', formatCount(summary.manifests)],
      ['entries and rows', formatCount(summary.entries)],
      ['values compared', formatCount(summary.fields)],
      ['differences', formatCount(differenceCount)],
      ['refused by avsc', formatCount(refused.length)],
      ['unreadable files', formatCount(unreadable.length)],
    ],
    colors,
  )
  const left = differenceCount - differences.length
  return [
    `${colors.bold(printable(name))}: each file decoded by iceplan and by avsc\n${counts}`,
    section('differences', [
      ...differences.map(({ location, entry, field, ours, avsc }) => {
        const where = entry === undefined ? '' : `, entry ${entry}`
        return `${location}${where}, ${field}: iceplan ${ours}, avsc ${avsc}`
      }),
      ...(left > 0 ? [`and ${formatCount(left)} more`] : []),
    ]),
    section(
      'refused by avsc',
      refused.map(
        ({ location, message, compared }) =>
          `${location}: ${message}${compared ? ' (compared under other names)' : ' (not compared)'}`,
      ),
    ),
    section(
      'unreadable files',
      unreadable.map(({ location, by, message }) => `${location}, by ${by}: ${message}`),
    ),
    `\n${verdict(summary, colors)}\n`,
  ].join('')

  function section(title: string, lines: readonly string[]): string {
    if (lines.length === 0) return ''
    return `\n${colors.bold(title)}\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`
  }
}

function verdict(summary: VerifySummary, colors: Colors): string {
  const { differenceCount, unreadable, refused } = summary
  if (!isClean(summary))
    return colors.red(
      `${plural(differenceCount, 'difference')}, ${plural(unreadable.length, 'unreadable file')}`,
    )
  const uncompared = refused.filter(({ compared }) => !compared).length
  return uncompared === 0
    ? colors.green('both readers agree')
    : colors.yellow(`both readers agree, except for ${plural(uncompared, 'file')} that avsc does not read`)
}
