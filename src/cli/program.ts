/**
 * The command line as the parser knows it: commands, options, help. What carries a command out is loaded when it runs,
 * so that `--help` and `--version` load no planner.
 */
import { createRequire } from 'node:module'
import { Command, CommanderError, Option } from 'commander'
import type { PlanCommandOptions } from './commands/plan.ts'
import type { VerifyCommandOptions } from './commands/verify.ts'
import type { ExitCode } from './failure.ts'
import { parseAsOf, parseSelect, parseSnapshotId, parseWorkers } from './option-values.ts'
import type { Run } from './run.ts'
import { addTableOptions } from './table-options.ts'

const EXIT_CODES = `
Exit codes: 0 done, 1 failed (no such table, snapshot, ref or column; damaged files), 2 command line not understood,
130 interrupted. Results go to stdout; progress, warnings and the report go to stderr.

Secrets: S3 takes them where the AWS tools do (AWS_ACCESS_KEY_ID, profiles, ...); a catalog takes ICEPLAN_TOKEN, a bearer
token, or ICEPLAN_CREDENTIAL, id:secret for OAuth2.`

const EXAMPLES = `
Examples:
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders
  $ iceplan verify fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders
  $ iceplan help plan
${EXIT_CODES}`

const PLAN_EXAMPLES = `
The table that --format table prints is for people: a terminal gets the first 50 tasks and a count of the rest, with
paths shortened to its width; a pipe or file gets all, in full. Programs read json (one object with tasks and report)
or jsonl (a task a line), in which 64-bit ids are bare integers.

A filter is what stands after WHERE, or expression JSON; files that provably hold no matching row are not planned:
  region = 'emea' AND NOT (amount < 500 OR status IN ('open', 'late'))
  ordered_at >= '2026-10-29T00:00:00Z' AND ordered_at < TIMESTAMPTZ '2026-10-30 00:00:00+00:00'
  shipped.on BETWEEN DATE '2026-10-30' AND DATE '2026-11-02'
  status LIKE 'ship%' OR discount_rate IS NAN OR note IS NOT NULL
  day(ordered_at) = '2026-11-03' AND bucket(4, customer_id) = 0
  {"type": "eq", "term": "region", "value": "emea"}
Unlike in SQL, region != 'emea' keeps rows whose region is null. README.md has the grammar.

Examples, with the bundled table; it was written to S3, so --rebase says where its files are now:
  # the current snapshot
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders

  # the files that may hold matching rows; RESIDUAL is what a reader still has to test of each row
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders \\
      --filter "region = 'emea' AND ordered_at >= '2026-11-03T12:00:00Z' AND amount > 500"

  # a tag or branch; the snapshot that was current at a time; a snapshot by its id
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders --ref month-end
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders --as-of 2026-11-29T23:00:46+01:00
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders --snapshot-id 2388319753623360330

  # files that have deletes, by jq
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders --format jsonl |
      jq -r 'select(.deletes != []) | .["file-path"]'

  # S3, a store that speaks its protocol, a public bucket, a REST catalog (not bundled: README.md has more)
  iceplan plan s3://warehouse/db/orders
  iceplan plan s3://warehouse/db/orders --property s3.endpoint=http://localhost:9000
  iceplan plan s3://public/db/orders --property s3.anonymous=true
  iceplan plan --catalog https://catalog.example.com --warehouse prod db.orders

  # only the report
  $ iceplan plan fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders --format json | jq .report
${EXIT_CODES}`

const VERIFY_EXAMPLES = `
Exits with 1 if the two readers differ anywhere, or if a file cannot be read.

Examples, with the bundled table; it was written to S3, so --rebase says where its files are now:
  # all snapshots
  $ iceplan verify fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders

  # one snapshot, for a program
  $ iceplan verify fixtures/orders --rebase s3://warehouse/db/orders=fixtures/orders \\
      --snapshot-id 2388319753623360330 --format json
${EXIT_CODES}`

/**
 * The program. Parsing throws CommanderError (help and version included) or UsageError, and rejects as the commands do.
 *
 * @param setExitCode called with what a command ends with
 */
export function makeProgram(run: Run, setExitCode: (code: ExitCode) => void): Command {
  const program = new Command('iceplan')
    .description(
      'Plans scans of Apache Iceberg tables: which files a query must read, and which deletes apply.',
    )
    .option('-V, --version', 'output the version number')
    // As `version()` would, but the package is looked up only when asked.
    .on('option:version', () => {
      run.stdout.write(`${packageVersion()}\n`)
      throw new CommanderError(0, 'commander.version', 'version')
    })
    .exitOverride()
    .configureOutput({
      outputError: (message, write) => {
        // An error is one sentence; a suggestion comes on a line of its own.
        write(
          `${message
            .replace(/^error: /, 'iceplan: ')
            .trim()
            .replaceAll('\n', ' ')}\n`,
        )
      },
    })
    .addHelpText('after', EXAMPLES)

  // Commands inherit what the program has been told above.
  addTableOptions(program.command('plan'))
    .description('List the data files that a scan reads, with the deletes that apply to each.')
    .option('--filter <expression>', 'rows that the query wants: SQL-like text, or Iceberg expression JSON')
    .addOption(snapshotId().conflicts(['ref', 'asOf']))
    .addOption(
      new Option('--ref <name>', 'plan the snapshot of this branch or tag').conflicts(['snapshotId', 'asOf']),
    )
    .addOption(
      new Option('--as-of <time>', 'plan what was current then: ISO 8601 with a zone, or epoch milliseconds')
        .argParser(parseAsOf)
        .conflicts(['snapshotId', 'ref']),
    )
    .addOption(
      new Option(
        '--select <columns>',
        'columns that the query reads: a,b.c (checked against the schema; plans do not depend on them yet)',
      ).argParser<string[]>(parseSelect),
    )
    .addOption(format(['table', 'json', 'jsonl']))
    .addOption(
      new Option('--workers <n>', 'worker threads: a number (0: in process), or auto: by the amount of work')
        .argParser(parseWorkers)
        .default('auto'),
    )
    .addOption(
      new Option('--cache <state>', 'keep files and decoding plans in memory for the run')
        .choices(['on', 'off'])
        .default('on'),
    )
    .option('--cache-dir <folder>', 'keep the bytes of manifests from remote storage there for later runs')
    .option('--case-insensitive', 'find columns of --filter and --select by name whatever their case')
    .option('--lenient', 'take 0 for a missing sequence number that a delete depends on')
    .addOption(debug())
    .addHelpText('after', PLAN_EXAMPLES)
    .action(async (table: string, options: PlanCommandOptions & DebugOption) => {
      run.debug = options.debug === true
      const { runPlan } = await import('./commands/plan.ts')
      setExitCode(await runPlan(table, options, run))
    })

  addTableOptions(program.command('verify'))
    .description('Decode every manifest list and manifest twice, with iceplan and with avsc, and compare.')
    .addOption(snapshotId())
    .addOption(format(['table', 'json']))
    .addOption(debug())
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(async (table: string, options: VerifyCommandOptions & DebugOption) => {
      run.debug = options.debug === true
      const { runVerify } = await import('./commands/verify.ts')
      setExitCode(await runVerify(table, options, run))
    })

  return program
}

interface DebugOption {
  debug?: boolean
}

function snapshotId(): Option {
  return new Option('--snapshot-id <id>', 'take this snapshot').argParser(parseSnapshotId)
}

function format(forms: readonly string[]): Option {
  return new Option('--format <form>', 'form of the output').choices(forms).default('table')
}

function debug(): Option {
  return new Option('--debug', 'print the stack of an error')
}

/** From the package's own package.json, which is found by name, however deep this file is. */
function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('iceplan/package.json') as { version: string }
  return version
}
