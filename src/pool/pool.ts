/**
 * Where tasks are run: in this thread or in others. A pool knows nothing of what the tasks are.
 */
export interface Pool<Task, Answer> {
  /** Threads that run tasks; 0 when they run in this one. */
  readonly workers: number
  /**
   * Runs one task. Rejects with the task's own error, or a WorkerError when the thread that ran it died; other tasks
   * go on.
   */
  run(task: Task, options?: RunOptions): Promise<Answer>
  /** Ends the threads when their tasks are done. Tasks are refused afterwards. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Tasks of higher urgency leave the queue first; among equals, first come first served. Default 0. */
  readonly urgency?: number
}
