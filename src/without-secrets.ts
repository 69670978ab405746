/**
 * Locations and URLs as they may stand in a message: without passwords, and without the values that make a signed or
 * tokened URL work for whoever reads the log.
 */

/**
 * A location without the user and password before its host and the values of the parameters of its query that stand for
 * credentials, which become `***`. A key of a store that is no web server may look like a query and is cut all the same.
 */
export function withoutSecrets(location: string): string {
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(location)
  if (parts === null) return location
  const [, scheme, authority, rest] = parts as unknown as [string, string, string, string]
  const at = authority.lastIndexOf('@')
  // Of other stores than the web, such as abfss, a name before the host is a container.
  const isUser = at !== -1 && (/^http/i.test(scheme) || authority.lastIndexOf(':', at) !== -1)
  return `${scheme}${isUser ? `***${authority.slice(at)}` : authority}${withoutSignature(rest)}`
}

/** For text that is not understood: nothing that comes before the last `@` is kept but the scheme. */
export function withoutUser(text: string): string {
  const at = text.lastIndexOf('@')
  if (at === -1) return withoutSecrets(text)
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ''
  return withoutSecrets(`${scheme}***${text.slice(at)}`)
}

/** Signatures of AWS and those who speak its protocol, Google, Azure and CloudFront; tokens of any name. */
const SECRET =
  /^(?:x-[a-z]+-(?:signature|credential)|sig|signature|.*(?:token|secret|password)|.*api[-_]?key)$/i

function withoutSignature(rest: string): string {
  const mark = rest.indexOf('?')
  if (mark === -1) return rest
  const query = rest
    .slice(mark + 1)
    .split('&')
    .map((parameter) => {
      const equals = parameter.indexOf('=')
      return equals !== -1 && SECRET.test(decoded(parameter.slice(0, equals)))
        ? `${parameter.slice(0, equals)}=***`
        : parameter
    })
  return `${rest.slice(0, mark)}?${query.join('&')}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
