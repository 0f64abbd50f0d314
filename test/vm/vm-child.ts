import { Account, LiteSvm } from 'litesvm/dist/internal.js';

/** Transactions and a funded payer. */
export type VmTask = Readonly<{ payer: Uint8Array; wires: readonly Uint8Array[] }>;

/** `ran`: accepted by the VM; `invoked`: reached a program. */
export type VmReport = Readonly<{ ran: number; invoked: number }>;

/** Runs transactions in the VM. The VM crashes the process on undecodable ones, which the parent detects. */
const vm = new LiteSvm();
vm.setSigverify(false);
vm.setBlockhashCheck(false);
vm.setTransactionHistory(0n);

process.on('message', ({ payer, wires }: VmTask) => {
  const metas = wires
    .map((wire) => {
      // A transaction may reassign the payer.
      vm.setAccount(payer, new Account(1_000_000_000_000n, new Uint8Array(), new Uint8Array(32), false, 0n));
      return vm.sendVersionedTransaction(wire);
    })
    .map((outcome) => ('err' in outcome ? outcome.meta() : outcome));
  const invoked = metas.filter((meta) => meta.logs().length > 0).length;
  process.send?.({ ran: wires.length, invoked } satisfies VmReport);
});
