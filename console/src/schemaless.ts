// Replaces typebox in the console's build (vite.config.ts): there the schemas of contracts are empty, and an operation
// has only what a call needs. It keeps some 40 kB of schema library out of the first load.

const schema = new Proxy(() => schema, {
  get(target, name) {
    if (name === 'properties') return {}
    // Used if a description is built from another schema's description.
    if (name === Symbol.toPrimitive) return () => ''
    return name === 'prototype' ? target.prototype : schema
  },
}) as unknown as () => unknown

export default schema
