import { Page } from '../../shell/page.tsx';

export const AuditPage = () => (
  <Page title="Audit" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
