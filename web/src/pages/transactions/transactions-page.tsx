import { Page } from '../../shell/page.tsx';

export const TransactionsPage = () => (
  <Page title="Transactions" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
