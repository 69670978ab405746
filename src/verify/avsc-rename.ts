/**
 * A copy of a writer schema that differs only where Avro data cannot show it.
 *
 * avsc refuses names outside `[A-Za-z_][A-Za-z0-9_]*`, a name defined twice, defaults that do not fit, and a type
 * wrapped in another `{ "type": ... }`. Avro data holds none of these: it is laid out by types, order of fields and
 * order of branches alone. The copy keeps those, numbers every name, unwraps, and leaves out aliases and defaults, so
 * what it decodes is what the original says.
 */

type Json = Record<string, unknown>

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])

/**
 * @returns `undefined` where no copy can stand for the schema: a reference to a name that has no definition or two
 *   different ones, or what is not a schema at all
 */
export function renameSchema(schema: unknown): unknown {
  const names = new Map<string, { name: string; text: string; ambiguous: boolean }>()
  let count = 0

  function type(node: unknown, namespace: string): unknown {
    if (typeof node === 'string') return PRIMITIVES.has(node) ? node : reference(node, namespace)
    if (Array.isArray(node)) return node.map((branch) => type(branch, namespace))
    if (typeof node !== 'object' || node === null) throw NO_COPY
    const json = node as Json
    switch (json['type']) {
      case 'record':
      case 'error': {
        const name = define(json, namespace)
        const inner = namespaceOf(json, namespace)
        const fields = json['fields']
        if (!Array.isArray(fields)) throw NO_COPY
        return {
          type: 'record',
          name,
          fields: fields.map((field: unknown, i) => ({
            name: `f${i}`,
            type: type((field as Json)['type'], inner),
          })),
        }
      }
      case 'fixed':
        return { type: 'fixed', name: define(json, namespace), size: json['size'] }
      case 'enum': {
        const symbols = json['symbols']
        if (!Array.isArray(symbols)) throw NO_COPY
        return { type: 'enum', name: define(json, namespace), symbols }
      }
      case 'array':
        return { type: 'array', items: type(json['items'], namespace) }
      case 'map':
        return { type: 'map', values: type(json['values'], namespace) }
      default:
        return type(json['type'], namespace)
    }
  }

  /** Two definitions of a name that read the same are one type; of two that differ, a reference could mean either. */
  function define(json: Json, namespace: string): string {
    const full = fullName(String(json['name']), namespaceOf(json, namespace))
    const text = JSON.stringify(json)
    const before = names.get(full)
    const name = `T${count++}`
    names.set(full, {
      name,
      text,
      ambiguous: before !== undefined && (before.ambiguous || before.text !== text),
    })
    return name
  }

  function reference(name: string, namespace: string): string {
    const found = names.get(fullName(name, namespace)) ?? names.get(name)
    if (found === undefined || found.ambiguous) throw NO_COPY
    return found.name
  }

  try {
    return type(schema, '')
  } catch (error) {
    if (error === NO_COPY) return undefined
    throw error
  }
}

const NO_COPY = new Error('No copy')

/** A dotted name is full already and brings its namespace; a bare one lives in the enclosing namespace. */
function namespaceOf(json: Json, enclosing: string): string {
  const name = String(json['name'])
  const dot = name.lastIndexOf('.')
  if (dot >= 0) return name.slice(0, dot)
  return typeof json['namespace'] === 'string' ? json['namespace'] : enclosing
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}
