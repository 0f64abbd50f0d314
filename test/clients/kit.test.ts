import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  createTransactionMessage,
  fetchAddressesForLookupTables,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  getU64Encoder,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  type Signature,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../service/eventually.ts';
import { type RunningService, startService } from '../service/start-service.ts';

/** The published @solana/kit against the whole service: key, gateway, embedded ledger. */
let service: RunningService;

const connect = () =>
  createSolanaRpcFromTransport(
    createDefaultRpcTransport({
      url: service.ready.rpcUrl,
      headers: { authorization: `Bearer ${service.key}` },
    }),
  );
let rpc: ReturnType<typeof connect>;

beforeAll(async () => {
  service = await startService();
  rpc = connect();
});
afterAll(() => service?.stop());

const CONFIRMED = { commitment: 'confirmed' } as const;
const SOL = 1_000_000_000n;
const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111' as Address;
const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;

async function confirmed(signature: Signature): Promise<void> {
  await eventually(async () => {
    const { value } = await rpc.getSignatureStatuses([signature]).send();
    return value[0]?.confirmationStatus === 'confirmed' || value[0]?.confirmationStatus === 'finalized';
  }, `${signature} is confirmed`);
}

async function sign(
  payer: KeyPairSigner,
  instructions: Instruction[],
  tables: Record<Address, Address[]> = {},
) {
  const { value: lifetime } = await rpc.getLatestBlockhash(CONFIRMED).send();
  const empty = setTransactionMessageFeePayerSigner(payer, createTransactionMessage({ version: 0 }));
  const message = appendTransactionMessageInstructions(
    instructions,
    setTransactionMessageLifetimeUsingBlockhash(lifetime, empty),
  );
  return signTransactionMessageWithSigners(
    compressTransactionMessageUsingAddressLookupTables(message, tables),
  );
}

async function send(
  payer: KeyPairSigner,
  instructions: Instruction[],
  tables?: Record<Address, Address[]>,
): Promise<Signature> {
  const transaction = await sign(payer, instructions, tables);
  const wire = getBase64EncodedWireTransaction(transaction);
  const signature = await rpc
    .sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'confirmed' })
    .send();
  expect(signature).toBe(getSignatureFromTransaction(transaction));
  await confirmed(signature);
  return signature;
}

async function funded(sol = 10n): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  await confirmed(await rpc.requestAirdrop(signer.address, lamports(sol * SOL), CONFIRMED).send());
  return signer;
}

const balance = async (address: Address) => (await rpc.getBalance(address, CONFIRMED).send()).value;

describe('@solana/kit through the gateway', () => {
  describe('a SOL transfer', () => {
    let payer: KeyPairSigner;
    let to: Address;
    let signature: Signature;

    beforeAll(async () => {
      payer = await funded();
      to = (await generateKeyPairSigner()).address;
      signature = await send(payer, [
        getTransferSolInstruction({ source: payer, destination: to, amount: SOL }),
      ]);
    });

    it('moves the lamports and charges the fee', async () => {
      expect(await balance(to)).toBe(SOL);
      expect(await balance(payer.address)).toBe(9n * SOL - 5000n);
    });

    it('is returned parsed, and as its exact bytes in base64', async () => {
      const parsed = await rpc
        .getTransaction(signature, {
          ...CONFIRMED,
          encoding: 'jsonParsed',
          maxSupportedTransactionVersion: 0,
        })
        .send();
      expect(parsed?.transaction.message.instructions).toMatchObject([
        {
          program: 'system',
          parsed: { type: 'transfer', info: { source: payer.address, destination: to, lamports: SOL } },
        },
      ]);
      const raw = await rpc
        .getTransaction(signature, { ...CONFIRMED, encoding: 'base64', maxSupportedTransactionVersion: 0 })
        .send();
      const wire = Buffer.from(raw!.transaction[0], 'base64');
      expect(wire[0]).toBe(1);
      expect(wire.includes(Buffer.from(getAddressEncoder().encode(to)))).toBe(true);
    });
  });

  it('simulates without side effects', async () => {
    const payer = await funded(1n);
    const to = (await generateKeyPairSigner()).address;
    const transaction = await sign(payer, [
      getTransferSolInstruction({ source: payer, destination: to, amount: 1_000_000n }),
    ]);
    const { value } = await rpc
      .simulateTransaction(getBase64EncodedWireTransaction(transaction), {
        ...CONFIRMED,
        encoding: 'base64',
        sigVerify: true,
      })
      .send();
    expect(value.err).toBeNull();
    expect(value.unitsConsumed).toBe(150n);
    expect(await balance(to)).toBe(0n);
  });

  it('returns the preflight error and logs of a failing transaction', async () => {
    const payer = await funded(1n);
    const to = (await generateKeyPairSigner()).address;
    const error = await send(payer, [
      getTransferSolInstruction({ source: payer, destination: to, amount: 5n * SOL }),
    ]).then(
      () => null,
      (caught: unknown) => caught,
    );
    if (!isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)) {
      throw new Error(`not a preflight failure: ${error}`);
    }
    expect(error.context.unitsConsumed).toBe(150n);
    expect(error.context.logs).toContain(
      'Program 11111111111111111111111111111111 failed: custom program error: 0x1',
    );
  });

  it('creates, mints, transfers and reads back an SPL token', async () => {
    const payer = await funded();
    const mint = await generateKeyPairSigner();
    const friend = (await generateKeyPairSigner()).address;
    const ata = async (owner: Address) =>
      (await findAssociatedTokenPda({ owner, mint: mint.address, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0];
    const [source, destination] = [await ata(payer.address), await ata(friend)];
    const space = BigInt(getMintSize());
    const rent = await rpc.getMinimumBalanceForRentExemption(space).send();
    await send(payer, [
      getCreateAccountInstruction({
        payer,
        newAccount: mint,
        lamports: rent,
        space,
        programAddress: TOKEN_PROGRAM_ADDRESS,
      }),
      getInitializeMint2Instruction({ mint: mint.address, decimals: 9, mintAuthority: payer.address }),
      getCreateAssociatedTokenInstruction({ payer, ata: source, owner: payer.address, mint: mint.address }),
      getCreateAssociatedTokenInstruction({ payer, ata: destination, owner: friend, mint: mint.address }),
    ]);
    // The largest u64, which loses precision as a JavaScript number.
    const supply = 18_446_744_073_709_551_615n;
    await send(payer, [
      getMintToCheckedInstruction({
        mint: mint.address,
        token: source,
        mintAuthority: payer,
        amount: supply,
        decimals: 9,
      }),
    ]);
    const signature = await send(payer, [
      getTransferCheckedInstruction({
        source,
        mint: mint.address,
        destination,
        authority: payer,
        amount: 7n,
        decimals: 9,
      }),
    ]);

    expect((await rpc.getTokenSupply(mint.address, CONFIRMED).send()).value.amount).toBe(String(supply));
    const { value: largest } = await rpc.getTokenLargestAccounts(mint.address, CONFIRMED).send();
    expect(largest.map(({ address, amount }) => [address, amount])).toEqual([
      [source, String(supply - 7n)],
      [destination, '7'],
    ]);
    const { value: owned } = await rpc
      .getTokenAccountsByOwner(friend, { mint: mint.address }, { ...CONFIRMED, encoding: 'jsonParsed' })
      .send();
    expect(owned.map(({ pubkey }) => pubkey)).toEqual([destination]);
    expect(owned[0]?.account.data.parsed.info.tokenAmount.uiAmountString).toBe('0.000000007');
    const found = await rpc
      .getTransaction(signature, { ...CONFIRMED, encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send();
    const amounts = (
      balances: typeof found extends null
        ? never
        : NonNullable<NonNullable<typeof found>['meta']>['preTokenBalances'],
    ) => (balances ?? []).map(({ uiTokenAmount }) => uiTokenAmount.amount).sort();
    expect(amounts(found?.meta?.preTokenBalances)).toEqual(['0', String(supply)]);
    expect(amounts(found?.meta?.postTokenBalances)).toEqual([String(supply - 7n), '7']);
  });

  it('runs a v0 transaction with a lookup table and finds it by a loaded address', async () => {
    const payer = await funded();
    const to = (await generateKeyPairSigner()).address;
    const recentSlot = await rpc.getSlot({ commitment: 'finalized' }).send();
    const [table, bump] = await getProgramDerivedAddress({
      programAddress: LOOKUP_TABLE_PROGRAM,
      seeds: [getAddressEncoder().encode(payer.address), getU64Encoder().encode(recentSlot)],
    });
    const accounts = [
      { address: table, role: AccountRole.WRITABLE },
      { address: payer.address, role: AccountRole.READONLY_SIGNER },
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
    ];
    const create = Buffer.alloc(13);
    create.writeBigUInt64LE(recentSlot, 4);
    create[12] = bump;
    const extend = Buffer.concat([
      Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
      new Uint8Array(getAddressEncoder().encode(to)),
    ]);
    await send(payer, [
      { programAddress: LOOKUP_TABLE_PROGRAM, accounts, data: create },
      { programAddress: LOOKUP_TABLE_PROGRAM, accounts, data: extend },
    ]);
    // A lookup table entry is usable from the slot after the one that added it.
    const extended = await rpc.getSlot(CONFIRMED).send();
    await eventually(
      async () => (await rpc.getSlot(CONFIRMED).send()) > extended,
      'the next slot is confirmed',
    );
    const tables = await fetchAddressesForLookupTables([table], rpc, CONFIRMED);
    expect(tables[table]).toEqual([to]);

    const signature = await send(
      payer,
      [getTransferSolInstruction({ source: payer, destination: to, amount: 2_000_000n })],
      tables,
    );
    expect(await balance(to)).toBe(2_000_000n);
    const found = await rpc
      .getTransaction(signature, { ...CONFIRMED, encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send();
    expect(found?.meta?.loadedAddresses).toEqual({ writable: [to], readonly: [] });
    const [entry] = await rpc.getSignaturesForAddress(to, CONFIRMED).send();
    expect(entry?.signature).toBe(signature);
  });
});
