/** A worker that cannot be loaded. */
throw new RangeError('nothing works today')
