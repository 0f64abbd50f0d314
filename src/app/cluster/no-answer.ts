/** A question between a primary and a worker got no answer; the message says why. */
export class NoAnswer extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'NoAnswer';
  }
}
