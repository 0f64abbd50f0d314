import { type Behaviour, send } from './server.ts';

/** Reported state; functions are evaluated per request. */
export type ReportedState = Readonly<{
  slot?: number | (() => number);
  /** Newest slot with shreds. */
  shreds?: number;
  firstAvailable?: number;
  genesis?: string;
  /** JSON result of other methods. */
  result?: string;
}>;

/** Reports the given state; responds to other methods with one result. */
export const reporting =
  ({ slot = 1_000, shreds, firstAvailable, genesis, result = '"ok"' }: ReportedState): Behaviour =>
  ({ id, method }, reply) => {
    const now = (): number => (typeof slot === 'function' ? slot() : slot);
    const own = (): string | undefined => {
      switch (method) {
        case 'getSlot':
          return String(now());
        case 'getMaxShredInsertSlot':
          return String(shreds ?? now());
        case 'getFirstAvailableBlock':
          return String(firstAvailable ?? 0);
        case 'getHealth':
          return '"ok"';
        case 'getGenesisHash':
          return genesis === undefined ? undefined : JSON.stringify(genesis);
        default:
          return undefined;
      }
    };
    send(reply, `{"jsonrpc":"2.0","result":${own() ?? result},"id":${id}}\n`);
  };
