/** A worker could not start; the message says why, in its words. */
export class WorkerStartError extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'WorkerStartError';
  }
}
