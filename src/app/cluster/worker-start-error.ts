/** A worker could not start; the message says why, in its words. */
export class WorkerStartError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WorkerStartError';
  }
}
