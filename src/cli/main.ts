#!/usr/bin/env node
/**
 * The door of the `iceplan` command. Nothing but Node is imported before its compile cache is on, which keeps what V8
 * made of the code from run to run; NODE_DISABLE_COMPILE_CACHE turns it off.
 */
import module from 'node:module'

/** Node 22.1 has it, the types of Node 20 do not. */
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()
await import('./command.ts')
