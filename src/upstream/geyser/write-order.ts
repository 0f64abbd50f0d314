import { bytesKey } from '../../base/text/bytes-key.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';

/** A stream's view of the slot. */
type View = object;

type BufferedWrite = Readonly<{ view: View; write: string; update: RawAccount }>;
type LastWrite = Readonly<{ write: string; sources: Set<View> }>;

/**
 * Keeps the writes of each account of one slot in order where streams that were asked for different ones tell it. A
 * stream says them in order: one that another stream must have passed without a word is older than what that one has
 * told, and was not asked of it, unless that one comes to it still, or never comes to what was told.
 * Where nobody is there to go by, the newer writes are told again behind it.
 */
export class WriteOrder {
  readonly #wasEmitted: boolean;
  /** By account: the write that was told last, and who has said it. */
  readonly #last = new Map<string, LastWrite>();
  /** Accounts of which an older write may have been told behind a newer one. */
  readonly #outOfOrder = new Set<string>();
  /** By account: what was not told, as its stream has not come to what was told last. */
  readonly #buffered = new Map<string, BufferedWrite[]>();

  /** @param wasTold - whether the slot was told to its end: any write that is new may be an older one. */
  constructor(wasEmitted: boolean) {
    this.#wasEmitted = wasEmitted;
  }

  /**
   * @param isNew - whether it was not told yet.
   * @param counts - whether what a stream says of the slot counts still.
   * @returns whether it is to be told.
   */
  take<V extends View>(
    view: V,
    update: RawAccount,
    isNew: boolean,
    isAuthoritative: (other: V) => boolean,
  ): boolean {
    if (update.signature === null) return isNew;
    const [account, write] = [bytesKey(update.address), bytesKey(update.signature)];
    const last = this.#last.get(account);
    if (last?.write === write) {
      last.sources.add(view);
      this.#dropBuffered(account, (buffered) => buffered.view === view);
      return false;
    }
    if (isNew || this.#dropBuffered(account, (buffered) => buffered.write === write)) {
      const isBehind = last === undefined ? this.#wasEmitted : !last.sources.has(view);
      if (isBehind && [...(last?.sources ?? [])].some((other) => isAuthoritative(other as V))) {
        this.#buffered.set(account, [...(this.#buffered.get(account) ?? []), { view, write, update }]);
        return false;
      }
      if (isBehind) this.#outOfOrder.add(account);
    } else if (!this.#outOfOrder.has(account)) return false;
    this.#last.set(account, { write, sources: new Set([view]) });
    return true;
  }

  /** @returns what a stream that comes to the end of the slot has said and nobody told: it may be the newest. */
  bufferedOf(view: View): RawAccount[] {
    const buffered = [...this.#buffered.values()].flat().filter((each) => each.view === view);
    return buffered.map(({ update }) => update);
  }

  /** @returns whether there was any. */
  #dropBuffered(account: string, isObsolete: (buffered: BufferedWrite) => boolean): boolean {
    const buffered = this.#buffered.get(account);
    if (buffered === undefined) return false;
    const remaining = buffered.filter((each) => !isObsolete(each));
    this.#buffered.set(account, remaining);
    return remaining.length < buffered.length;
  }
}
