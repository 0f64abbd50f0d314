import { createLogger } from '../../src/base/log.ts';
import { programs } from '../../src/solana/programs.ts';
import { TableLoader } from '../../src/upstream/shreds/lookup-tables.ts';
import { shredLimits } from '../../src/upstream/shreds/shreds-config.ts';

export const from = 'nodes';
export const covers = ['upstream/shreds/lookup-tables.ts'];

const TABLE = `{"owner":"${programs.addressLookupTable}","data":["AQAAAA==","base64"],"lamports":1}`;

/** Answers to a question for two lookup tables. */
export const seeds: readonly Uint8Array[] = [
  `{"context":{"slot":5},"value":[${TABLE},null]}`,
  `{"context":{"slot":5},"value":[{"owner":"x","data":["",1]},${TABLE}]}`,
  '{"context":{"slot":5},"value":[]}',
  'null',
].map((text) => Buffer.from(text));

const log = createLogger('silent', () => {});
const limits = { ...shredLimits, tablesGatherMs: 0 };
const keys = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('latin1'));

/** Whatever a node answers, tables that were wanted are told, or none is, and nothing breaks. */
export function fuzz(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let reported = 0;
    const found = (key: string, data: Uint8Array, slot: bigint): void => {
      reported++;
      if (!keys.includes(key) || !(data instanceof Uint8Array) || slot < 0n)
        reject(new Error('told what nobody asked for'));
    };
    const send = async (): Promise<Buffer> => {
      // The answer is read in the turns after this one.
      setImmediate(() => {
        reads.close();
        resolve(reported > 0);
      });
      return Buffer.from(bytes);
    };
    const reads = new TableLoader({ reader: { request: send }, limits, log, onTable: found });
    for (const key of keys) reads.request(key);
  });
}
