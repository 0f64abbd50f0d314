import { Account, LiteSvm } from 'litesvm/dist/internal.js';

/** Transactions to run, and an account that can pay for them. */
export type VmTask = Readonly<{ payer: Uint8Array; wires: readonly Uint8Array[] }>;

/** How many the VM took, and how many of them got as far as a program. */
export type VmReport = Readonly<{ ran: number; invoked: number }>;

/**
 * Runs transactions in the VM and answers with a report. The VM takes this whole process down when it cannot
 * decode one: that is what the parent watches for.
 */
const vm = new LiteSvm();
vm.setSigverify(false);
vm.setBlockhashCheck(false);
vm.setTransactionHistory(0n);

process.on('message', ({ payer, wires }: VmTask) => {
  const metas = wires
    .map((wire) => {
      // A transaction may give the payer away to a program; the next one shall pay again.
      vm.setAccount(payer, new Account(1_000_000_000_000n, new Uint8Array(), new Uint8Array(32), false, 0n));
      return vm.sendVersionedTransaction(wire);
    })
    .map((outcome) => ('err' in outcome ? outcome.meta() : outcome));
  const invoked = metas.filter((meta) => meta.logs().length > 0).length;
  process.send?.({ ran: wires.length, invoked } satisfies VmReport);
});
