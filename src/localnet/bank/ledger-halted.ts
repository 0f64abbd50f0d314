/** The ledger makes no more slots, so that what it took now would be lost. `cause` is what ended it. */
export class LedgerHaltedError extends Error {
  override readonly name = 'LedgerHaltedError';

  constructor(cause: Error) {
    super('the ledger has stopped and takes no more transactions', { cause });
  }
}
