import type { Exchange, Posted, Question } from '../exchange.ts';

/** Whoever has a request: the pool while it waits for a connection, then its connection. */
export interface PostHolder {
  /** Whoever asked does not want to know any more. */
  abandoned(post: Post): void;
}

/** One request from the moment it is put to what it comes to. */
export class Post implements Posted {
  /** What goes out, in one piece. */
  readonly bytes: Buffer;
  readonly question: Question;
  /** When it is given up, as `performance.now()`. */
  deadline: number;
  holder: PostHolder;
  /** Its bytes are on their way: the node may read them. */
  hasLeft = false;
  /** Whoever asked was offered its answer piece by piece. */
  isOffered = false;
  /** Whoever asked has heard what it came to. */
  isSettled = false;
  /** Its neighbours in the queue that it stands in: see PostQueue. */
  before: Post | null = null;
  behind: Post | null = null;

  constructor(bytes: Buffer, deadline: number, question: Question, holder: PostHolder) {
    this.bytes = bytes;
    this.deadline = deadline;
    this.question = question;
    this.holder = holder;
  }

  abort(): void {
    if (!this.isSettled) this.holder.abandoned(this);
  }

  expire(): void {
    this.deadline = Math.min(this.deadline, performance.now());
  }

  /**
   * Tells whoever asked, unless it was told already.
   * @returns whether what came may be believed to be the answer.
   */
  settle(exchange: Exchange): boolean {
    if (this.isSettled) return true;
    this.isSettled = true;
    return this.question.exchanged(exchange);
  }
}
