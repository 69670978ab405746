/** A worker without a task to run. */
export default 'no function'
