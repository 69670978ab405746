/** The peers: how to see that one is built, and how to start it. README.md says what each of them is. */
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Peer {
  name: string
  /** Program and arguments before the metadata file and the filter. */
  command: readonly string[]
  /** Arguments after the filter. */
  flags?: readonly string[]
  /** Rounds before the counted ones. */
  warmUps: number
  /** What one plan leaves for the next one, so that times stand apart; undefined: nothing to speak of. */
  keeps?: string
  /** A file, relative to bench/peers, that is there once the peer is built; undefined: nothing has to be built. */
  builtFile?: string
}

/** Sources and built peers; like all benches, to be run from the project's root. */
const FOLDER = path.resolve('bench/peers')
const inFolder = (file: string) => path.join(FOLDER, file)

function ours(workers: number, cache: 'on' | 'off'): Peer {
  const script = fileURLToPath(new URL('./ours.js', import.meta.url))
  return {
    name: `ours-${workers}-${cache}`,
    command: [process.execPath, script, '--workers', String(workers), '--cache', cache],
    warmUps: 3,
    ...(cache === 'on' ? { keeps: 'decoded entries' } : {}),
  }
}

/** Node.js gets the heap that Java gets. */
function node(name: string, script: string): Peer {
  return {
    name,
    command: [process.execPath, '--max-old-space-size=4096', inFolder(`node/${script}`)],
    warmUps: 3,
  }
}

function java(name: string, ...args: string[]): Peer {
  const classPath = ['classes', 'lib/*'].map((part) => inFolder(`java/target/${part}`)).join(path.delimiter)
  return {
    name,
    command: ['java', '-Xmx4g', '-cp', classPath, 'iceplan.peers.PlanOnDemand', ...args],
    warmUps: 5,
    builtFile: 'java/target/built',
  }
}

function native(name: string, program: string, ...flags: string[]): Peer {
  return { name, command: [inFolder(program)], flags, warmUps: 3, builtFile: program }
}

const RUST = 'rust/target/release/iceplan-peer-rust'
const GO = 'go/.build/iceplan-peer-go'
const PYTHON = 'pyiceberg/.venv/bin/python'

/**
 * In the order of the printed table: those that do all the work in every plan, then those that keep something. The
 * first is what the others are compared with.
 */
export const PEERS: readonly Peer[] = [
  ours(0, 'off'),
  ours(2, 'off'),
  java('java'),
  native('rust-no-cache', RUST, '--no-cache'),
  native('go-no-cache', GO, '--no-cache'),
  {
    name: 'pyiceberg',
    command: [inFolder(PYTHON), inFolder('pyiceberg/plan.py')],
    warmUps: 3,
    builtFile: PYTHON,
  },
  // Its decoder is a dependency of the project.
  node('plain-avsc', 'plain-avsc.mjs'),
  { ...node('icebird', 'icebird.mjs'), builtFile: 'node/node_modules/icebird/package.json' },
  ours(0, 'on'),
  ours(2, 'on'),
  { ...java('java-cache', '--cache'), keeps: 'file bytes' },
  { ...native('rust', RUST), keeps: 'decoded manifests' },
  { ...native('go', GO), keeps: 'manifest list' },
]

export function isBuilt({ builtFile }: Peer): boolean {
  return builtFile === undefined || fs.existsSync(inFolder(builtFile))
}
