/** A peer that is running: see protocol.ts. */
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import readline from 'node:readline'
import { type Answer, parseAnswer } from './protocol.ts'

/** A peer's answer, and what the system says that it took. */
export interface MeasuredAnswer extends Answer {
  /** Processor time of all threads of the process during the plan; undefined where there is no /proc. */
  cpuMs: number | undefined
}

export class PeerProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string, undefined>
  readonly #closed: Promise<void>
  #complaints = ''

  private constructor(command: readonly string[]) {
    const [program, ...args] = command
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    // A peer that has ended says so by the end of its output; writing to it must not end us.
    this.#child.stdin!.on('error', () => undefined)
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints = (this.#complaints + text).slice(-COMPLAINT_CHARACTERS)
    })
    this.#closed = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#complaints += error.message
        resolve()
      })
      this.#child.once('close', () => {
        resolve()
      })
    })
    const lines = readline.createInterface({ input: this.#child.stdout! })
    this.#lines = lines[Symbol.asyncIterator]() as AsyncIterator<string, undefined>
  }

  /**
   * Starts a peer and waits until it is ready.
   *
   * @throws Error with the peer's last words if it ends instead, or is silent for `timeoutMs`
   */
  static async start(command: readonly string[], timeoutMs: number): Promise<PeerProcess> {
    const peer = new PeerProcess(command)
    try {
      const line = await peer.#nextLine(timeoutMs)
      if (line !== 'ready') throw new Error(`it said ${line} instead of ready`)
      return peer
    } catch (error) {
      await peer[Symbol.asyncDispose]()
      throw error
    }
  }

  /** @throws Error if the peer ends, says something else than an answer, or is silent for `timeoutMs` */
  async plan(timeoutMs: number): Promise<MeasuredAnswer> {
    const before = this.#cpuMs()
    this.#child.stdin!.write('plan\n')
    const answer = parseAnswer(await this.#nextLine(timeoutMs))
    const after = this.#cpuMs()
    return { ...answer, cpuMs: before === undefined || after === undefined ? undefined : after - before }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin!.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS)
    await this.#closed
    clearTimeout(timer)
  }

  async #nextLine(timeoutMs: number): Promise<string> {
    const timer = setTimeout(() => {
      this.#complaints = `Error: no answer within ${timeoutMs / 1000} s`
      this.#child.kill('SIGKILL')
    }, timeoutMs)
    const { value } = await this.#lines.next()
    clearTimeout(timer)
    if (value !== undefined) return value
    await this.#closed
    throw new Error(`it ended: ${summaryOf(this.#complaints)}`)
  }

  #cpuMs(): number | undefined {
    try {
      const text = fs.readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
      // The second field is a name in parentheses, with any characters; user and system time are fields 14 and 15.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
    } catch {
      return undefined
    }
  }
}

/** Linux counts processor time for processes in hundredths of a second. */
const MS_PER_TICK = 10
/** After the end of stdin, before a peer is killed. */
const GRACE_MS = 5000
const COMPLAINT_CHARACTERS = 10_000

/** The first line that names an error, else the last line there is. */
function summaryOf(complaints: string): string {
  const lines = complaints.split('\n').filter((line) => line.trim() !== '')
  const telling = lines.find((line) => /error|exception|cannot|panic/i.test(line)) ?? lines.at(-1)
  return telling?.trim().slice(0, 200) ?? 'without a word'
}
