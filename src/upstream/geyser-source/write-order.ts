import { bytesKey } from '../../base/bytes-key.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';

/** A stream's view of the slot. */
type View = object;

type Held = Readonly<{ view: View; write: string; update: RawAccount }>;
type Last = Readonly<{ write: string; saidBy: Set<View> }>;

/**
 * Keeps the writes of each account of one slot in order where streams that were asked for different ones tell it. A
 * stream says them in order: one that another stream must have passed without a word is older than what that one has
 * told, and was not asked of it, unless that one comes to it still, or never comes to what was told.
 * Where nobody is there to go by, the newer writes are told again behind it.
 */
export class WriteOrder {
  readonly #wasTold: boolean;
  /** By account: the write that was told last, and who has said it. */
  readonly #last = new Map<string, Last>();
  /** Accounts of which an older write may have been told behind a newer one. */
  readonly #late = new Set<string>();
  /** By account: what was not told, as its stream has not come to what was told last. */
  readonly #held = new Map<string, Held[]>();

  /** @param wasTold - whether the slot was told to its end: any write that is new may be an older one. */
  constructor(wasTold: boolean) {
    this.#wasTold = wasTold;
  }

  /**
   * @param isNew - whether it was not told yet.
   * @param counts - whether what a stream says of the slot counts still.
   * @returns whether it is to be told.
   */
  take<V extends View>(view: V, update: RawAccount, isNew: boolean, counts: (other: V) => boolean): boolean {
    if (update.signature === null) return isNew;
    const [account, write] = [bytesKey(update.address), bytesKey(update.signature)];
    const last = this.#last.get(account);
    if (last?.write === write) {
      last.saidBy.add(view);
      this.#letGo(account, (held) => held.view === view);
      return false;
    }
    if (isNew || this.#letGo(account, (held) => held.write === write)) {
      const isBehind = last === undefined ? this.#wasTold : !last.saidBy.has(view);
      if (isBehind && [...(last?.saidBy ?? [])].some((other) => counts(other as V))) {
        this.#held.set(account, [...(this.#held.get(account) ?? []), { view, write, update }]);
        return false;
      }
      if (isBehind) this.#late.add(account);
    } else if (!this.#late.has(account)) return false;
    this.#last.set(account, { write, saidBy: new Set([view]) });
    return true;
  }

  /** @returns what a stream that comes to the end of the slot has said and nobody told: it may be the newest. */
  heldOf(view: View): RawAccount[] {
    const held = [...this.#held.values()].flat().filter((each) => each.view === view);
    return held.map(({ update }) => update);
  }

  /** @returns whether there was any. */
  #letGo(account: string, isOver: (held: Held) => boolean): boolean {
    const held = this.#held.get(account);
    if (held === undefined) return false;
    const left = held.filter((each) => !isOver(each));
    this.#held.set(account, left);
    return left.length < held.length;
  }
}
