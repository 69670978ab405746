/** A worker that ends while it is loaded, without an error. */
process.exit(0)
