import { Page } from '../../shell/page.tsx';

export const UpstreamsPage = () => (
  <Page title="Upstreams" ranged>
    <p className="muted">Not built yet.</p>
  </Page>
);
