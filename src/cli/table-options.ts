/** The options that say where the table is, alike for all commands. `open-table.ts` follows them. */
import { type Command, Option } from 'commander'
import { parseProperty, parseRequests } from './option-values.ts'

export interface TableOptions {
  catalog?: string
  warehouse?: string
  /** Names and values, by Iceberg's names; for the catalog and for storage. */
  property: [name: string, value: string][]
  rebase: string[]
  requests?: number
}

export function addTableOptions(command: Command): Command {
  return command
    .argument(
      '<table>',
      'metadata JSON file, table folder, or a URI of either (file:, http:, https:, s3:); with --catalog the name of a table',
    )
    .option('--catalog <url>', 'REST catalog that knows the table')
    .option('--warehouse <name>', "the catalog's warehouse that the table is in")
    .addOption(
      new Option(
        '--property <name=value>',
        'of storage or catalog, by its Iceberg name, such as s3.endpoint; may be repeated',
      )
        .argParser<[string, string][]>((text, earlier) => [...earlier, parseProperty(text)])
        .default([], 'none'),
    )
    .addOption(
      new Option('--rebase <old=new>', 'open locations that begin with OLD at NEW; may be repeated')
        .argParser<string[]>((text, earlier) => [...earlier, text])
        .default([], 'none'),
    )
    .addOption(
      new Option('--requests <n>', 'requests in flight at most (default: 64)').argParser(parseRequests),
    )
}
