import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { openLocalNode } from '../../src/genesis/open.ts';
import { at, Lab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const memoElf = (): Uint8Array => lab.node.bank('processed').account(programs.memoV3)!.data;

const memo = (program: PublicKey, text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: program, keys: [], data: Buffer.from(text) });

describe('genesis', () => {
  it('includes programs and accounts', async () => {
    const [program, account] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    const content = {
      lamports: lamports(123n),
      data: Uint8Array.of(1, 2, 3),
      owner: programs.memoV1,
      executable: false,
      rentEpoch: U64_MAX,
    };
    const own = await Lab.open({
      programs: [[at(program), memoElf()]],
      accounts: [[at(account), content]],
      faucetSol: 5n,
    });
    try {
      expect(own.node.bank('finalized').account(at(account))).toEqual(content);
      expect(own.balance(new PublicKey(own.node.genesis.faucet))).toBe(5_000_000_000n);
      expect(own.run([own.wallet(1)], [memo(program, 'from genesis')])).toBeNull();
      await own.reopen();
      expect(own.run([own.wallet(1)], [memo(program, 'from disk')])).toBeNull();
    } finally {
      await own.close();
    }
  });

  it('survives an account that claims to be a program', async () => {
    const wellFormed = Uint8Array.of(...new Uint8Array(48), ...memoElf());
    const owners = [programs.bpfLoader2, programs.loaderV4, programs.bpfUpgradeableLoader, programs.memoV1];
    const fakes = owners.map((owner) => {
      const data = owner === programs.loaderV4 ? wellFormed : new Uint8Array(64);
      const account = { lamports: lamports(10n ** 9n), data, owner, executable: true, rentEpoch: 0n };
      return [Keypair.generate().publicKey, account] as const;
    });
    const own = await Lab.open({ accounts: fakes.map(([key, account]) => [at(key), account] as const) });
    try {
      const payer = own.wallet();
      for (const [key] of fakes)
        expect(own.run([payer], [memo(key, 'x')])).toBe('InvalidProgramForExecution');
      expect(own.run([payer], [memo(new PublicKey(programs.memoV3), 'x')])).toBeNull();
    } finally {
      await own.close();
    }
  });
});

it('releases the directory when opening fails', async () => {
  const program = at(Keypair.generate().publicKey);
  const other = await Lab.open();
  await other.node.stop();
  const bad = openLocalNode({
    ledgerDir: other.dir,
    manual: true,
    reset: true,
    programs: [[program, new Uint8Array(9)]],
  });
  await expect(bad).rejects.toThrow();
  other.node = await openLocalNode({ ledgerDir: other.dir, manual: true });
  await other.close();
});
