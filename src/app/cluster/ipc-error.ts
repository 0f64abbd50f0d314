/** A worker could not start; the message is its own error. */
export class WorkerStartError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WorkerStartError';
  }
}

/** A request between the primary and a worker failed; the message has the reason. */
export class IpcError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'IpcError';
  }
}
