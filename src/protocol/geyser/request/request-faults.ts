import { GrpcError } from '../../grpc/status.ts';

/**
 * What is wrong with the content of a request whose bytes are a message. It is told only when all of the bytes were
 * read, because bytes that are no message weigh more, and a request that is a ping has no content.
 */
export class RequestFaults {
  #first: string | null = null;

  add(fault: string): void {
    this.#first ??= fault;
  }

  /** @throws GrpcError INVALID_ARGUMENT with the first fault, if there was one. */
  throwFirst(prefix: string): void {
    if (this.#first !== null) throw new GrpcError('INVALID_ARGUMENT', `${prefix}: ${this.#first}`);
  }
}
