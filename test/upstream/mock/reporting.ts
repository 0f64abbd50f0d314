import { type Behaviour, send } from './server.ts';

/** What a node says of itself when it is asked. A function is asked anew each time. */
export type ReportedState = Readonly<{
  slot?: number | (() => number);
  /** Up to which slot it has shreds. */
  shreds?: number;
  firstAvailable?: number;
  genesis?: string;
  /** What it answers to everything else, as JSON. */
  result?: string;
}>;

/** Answers what it is asked of itself as it is told to, and everything else with one result. */
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
