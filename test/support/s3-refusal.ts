/** A refusal as S3 words it: a status, a code, and an XML body that repeats more than a message should. */
export interface RefusalExtras {
  /** More elements of the XML body. */
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

export class S3Refusal extends Error {
  readonly status: number
  /** Such as `NoSuchKey`. */
  readonly code: string
  readonly fields: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { fields = {}, headers = {} }: RefusalExtras = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
    this.headers = headers
  }

  /** The body of the answer. */
  toXml(requestId: string): string {
    const all = {
      Code: this.code,
      Message: this.message,
      ...this.fields,
      RequestId: requestId,
      HostId: 'host',
    }
    const elements = Object.entries(all).map(([name, value]) => element(name, value))
    return `${XML_HEAD}<Error>${elements.join('')}</Error>`
  }
}

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** `<name>text</name>`; what XML cannot hold is written as S3 does, by number. */
export function element(name: string, text: string): string {
  return `<${name}>${text.replace(/[&<>"\p{Cc}]/gu, (c) => `&#${c.codePointAt(0)!};`)}</${name}>`
}
