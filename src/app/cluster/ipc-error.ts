/** A worker could not start; the message says why, in its words. */
export class WorkerStartError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WorkerStartError';
  }
}

/** A question between a primary and a worker got no answer; the message says why. */
export class IpcError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NoAnswer';
  }
}
