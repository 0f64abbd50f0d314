import type { HttpRequest } from './http-request.ts';

/** Requests in the order in which they were put. The links are in the requests themselves, which stand in one at a time. */
export class RequestQueue {
  first: HttpRequest | null = null;
  #last: HttpRequest | null = null;
  length = 0;

  push(request: HttpRequest): void {
    request.previous = this.#last;
    if (this.#last === null) this.first = request;
    else this.#last.next = request;
    this.#last = request;
    this.length++;
  }

  /** Takes the oldest out. */
  shift(): HttpRequest | null {
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  remove(request: HttpRequest): void {
    const { previous, next } = request;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    request.previous = null;
    request.next = null;
    this.length--;
  }
}
