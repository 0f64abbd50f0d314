import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AllAudit } from './all-audit.tsx';
import { Checks } from './checks.tsx';
import { CustomerAudit } from './customer-audit.tsx';
import '../../styles/traffic.css';
import '../../styles/logs.css';

/** What was changed, by whom and from where; for the operator also everywhere, and whether the books agree. */
export function AuditPage() {
  const { user, can, customer } = useSession();
  const mine = { id: 'customer', label: customer.name, panel: () => <CustomerAudit /> };
  return (
    <Page title="Audit" question="Who changed what, when, and from where?" ranged>
      {user.isOperator ? (
        <Tabs
          label="Whose"
          tabs={[
            mine,
            { id: 'all', label: 'All customers', panel: () => <AllAudit /> },
            { id: 'checks', label: 'Checks of the books', panel: () => <Checks /> },
          ]}
        />
      ) : can('admin') ? (
        <CustomerAudit />
      ) : (
        <EmptyState title="Admins and owners see the audit log">
          Ask one of them, or for a role that may more. Who that is stands under Team.
        </EmptyState>
      )}
    </Page>
  );
}
