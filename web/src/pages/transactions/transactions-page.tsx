import { useState } from 'react';

import { call } from '../../api.ts';
import { useFilters } from '../../filters.ts';
import { usePagedList } from '../../paged-list.ts';
import { useCall } from '../../queries.ts';
import { useFrameSearch } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { curlRpc } from '../../snippets.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { Pending } from '../../ui/pending.tsx';
import { LandedTiles } from './landed-tiles.tsx';
import { SignatureSearch } from './signature-search.tsx';
import { SubmissionDrawer } from './submission-drawer.tsx';
import { SubmissionTable } from './submission-table.tsx';
import type { Submission } from './transaction-status.ts';
import '../../styles/traffic.css';
import '../../styles/logs.css';

const REFETCH_MS = 5_000;
const PAGE_ROWS = 100;
const fields = ['signature'] as const;

/** A signature may be submitted twice; the time makes it unique. */
const idOf = ({ signature, at }: Submission): string => `${signature} ${at}`;

export function TransactionsPage() {
  const { customer } = useSession();
  const { key } = useFrameSearch();
  const [{ signature }, change] = useFilters(fields);
  const [open, setOpen] = useState<string | null>(null);
  const path = { customer: customer.id };
  const query = { key, signature, limit: PAGE_ROWS };
  const sent = useCall(
    'GET /customers/{customer}/transactions',
    { path, query },
    { refetchMs: REFETCH_MS, keepPrevious: true },
  );
  const list = usePagedList(`${key} ${signature}`, sent.data, idOf, (cursor) =>
    call('GET /customers/{customer}/transactions', { path, query: { ...query, cursor } }),
  );
  const opened = list.items.find((item) => idOf(item) === open);

  return (
    <Page
      title="Transactions"
      question="Transactions sent with sendTransaction, and whether they landed."
      updatedAt={sent.dataUpdatedAt}
      actions={<KeySwitch />}
    >
      <SignatureSearch value={signature} onSearch={(text) => change({ signature: text })} />
      <Pending query={sent}>
        {() => (
          <>
            {list.items.length === 0 ? null : <LandedTiles items={list.items} />}
            <SubmissionTable
              items={list.items}
              onOpen={(item) => setOpen(idOf(item))}
              empty={signature === undefined ? <NoTransactions /> : <NotFound signature={signature} />}
            />
            {list.items.length === 0 ? null : <MoreButton list={list} what="transaction" />}
          </>
        )}
      </Pending>
      {opened === undefined ? null : <SubmissionDrawer submission={opened} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function NoTransactions() {
  const { service } = useSession();
  const json =
    '{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["<SIGNED_TRANSACTION>",{"encoding":"base64"}]}';
  return (
    <EmptyState title="No transactions yet" snippet={curlRpc(service.urls, '<API_KEY>', json)}>
      Transactions sent with sendTransaction appear here with each submission, the node’s response, and the
      on-chain status.
    </EmptyState>
  );
}

const NotFound = ({ signature }: { signature: string }) => (
  <EmptyState title="No transaction found with this signature">
    <span className="mono wrap">{signature}</span> Only recent transactions sent with your API keys are
    listed.
  </EmptyState>
);
