/** A question between a primary and a worker got no answer; the message says why. */
export class IpcError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NoAnswer';
  }
}
