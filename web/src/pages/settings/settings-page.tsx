import { useFilters } from '../../filters.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AlertSettings } from './alert-settings.tsx';
import { CustomerSettings } from './customer-settings.tsx';
import { NoticeSettings } from './notice-settings.tsx';
import { OperatorCustomers } from './operator-customers.tsx';
import { OperatorPlans } from './operator-plans.tsx';
import { OperatorService } from './operator-service.tsx';
import { CustomerTokens, OperatorTokens } from './token-settings.tsx';
import { UserSettings } from './user-settings.tsx';
import './settings.css';

const fields = ['tab'] as const;

export function SettingsPage() {
  const [{ tab }, change] = useFilters(fields);
  const { user, can } = useSession();
  return (
    <Page title="Settings" question="Your profile, notifications, API tokens, and customer settings.">
      <Tabs
        label="Settings"
        chosen={tab}
        onChoose={(id) => change({ tab: id })}
        tabs={[
          { id: 'you', label: 'Profile', panel: () => <UserSettings /> },
          { id: 'customer', label: 'This customer', panel: () => <CustomerSettings /> },
          { id: 'notices', label: 'Notifications', panel: () => <NoticeSettings /> },
          ...(can('admin') ? [{ id: 'tokens', label: 'API tokens', panel: () => <CustomerTokens /> }] : []),
          ...(user.isOperator
            ? [
                { id: 'customers', label: 'Customers', panel: () => <OperatorCustomers /> },
                { id: 'plans', label: 'Plans', panel: () => <OperatorPlans /> },
                { id: 'alerts', label: 'Alerts', panel: () => <AlertSettings /> },
                { id: 'service', label: 'Service', panel: () => <OperatorService /> },
                { id: 'operator-tokens', label: 'Operator tokens', panel: () => <OperatorTokens /> },
              ]
            : []),
        ]}
      />
    </Page>
  );
}
