/**
 * The endpoint that the shared config files of AWS name for a profile: `endpoint_url`, under `s3` in the section of
 * `services` that the profile names, or in the profile itself. The SDK reads the same files, but tells only when a
 * request is made, and a FileIO must know earlier whose bytes it reads; see {@link FileIO.identity}.
 *
 *     [profile minio]
 *     services = local
 *
 *     [services local]
 *     s3 =
 *       endpoint_url = http://127.0.0.1:9000
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { InvalidArgumentError } from '../../errors.ts'

/** By name, such as `profile minio` or `services local`; a value under another has a name such as `s3.endpoint_url`. */
type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Reads the files each time: they are small.
 *
 * @param profile - Default: AWS_PROFILE, or `default`.
 * @throws InvalidArgumentError if the profile names services that are not there.
 */
export function profileEndpoint(profile: string | undefined): string | undefined {
  const { env } = process
  const name = profile ?? (env['AWS_PROFILE'] || 'default')
  const config = sectionsOf(env['AWS_CONFIG_FILE'] || '~/.aws/config')
  const credentials = sectionsOf(env['AWS_SHARED_CREDENTIALS_FILE'] || '~/.aws/credentials')
  const settings = new Map([
    ...(credentials.get(name) ?? []),
    ...(config.get(`profile ${name}`) ?? (name === 'default' ? config.get(name) : undefined) ?? []),
  ])
  if (settings.get('ignore_configured_endpoint_urls')?.toLowerCase() === 'true') return undefined
  const services = settings.get('services')
  const section = services === undefined ? undefined : config.get(`services ${services}`)
  if (services !== undefined && section === undefined)
    throw new InvalidArgumentError(
      `Cannot open S3 with the AWS profile ${name}: it names the services ${services}, which are not in the config file`,
    )
  return section?.get('s3.endpoint_url') ?? settings.get('endpoint_url')
}

/** Nothing for a file that cannot be read: most machines have none. */
function sectionsOf(path: string): Sections {
  let text: string
  try {
    text = readFileSync(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path, 'utf8')
  } catch {
    return new Map()
  }
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  let parent = ''
  for (const line of text.split(/\r?\n/)) {
    const content = line.replace(/(?:^|\s)[#;].*$/, '').trim()
    if (content.startsWith('[') && content.endsWith(']')) {
      const name = nameOf(content.slice(1, -1))
      section = sections.get(name) ?? new Map<string, string>()
      sections.set(name, section)
      parent = ''
      continue
    }
    const equals = content.indexOf('=')
    if (equals < 1) continue
    const name = content.slice(0, equals).trim()
    const value = content.slice(equals + 1).trim()
    const isNested = parent !== '' && /^\s/.test(line)
    if (!isNested) parent = value === '' ? `${name}.` : ''
    if (value !== '') section?.set(isNested ? parent + name : name, value)
  }
  return sections
}

/** `profile  "my name"` is `profile my name`. */
function nameOf(header: string): string {
  const parts = /^(profile|services|sso-session)\s+(.*)$/.exec(header.trim())
  return parts === null ? header.trim() : `${parts[1]} ${parts[2].replace(/^(["'])(.*)\1$/, '$2')}`
}
