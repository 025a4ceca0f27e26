import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts({
  again: [
    'Your session has ended. Sign in to continue: what you entered is kept for you, and for nobody else.',
    '会话已结束，请登录以继续。您填写的内容仍然保留，仅您本人登录后可见。',
  ],
  ways: ['Sign-in methods', '登录方式'],
  name: ['Username', '用户名'],
  orPasswordOfAdmins: ['or use your password (admins only)', '或使用密码（仅限管理员）'],
  onlyAdmins: ['Only admins can sign in with a password.', '此处仅管理员可用密码登录。'],
  setUpTitle: ['Set up your account', '设置账号'],
  newName: ['New user name (optional)', '新用户名（可选）'],
  newNameWords: ['Leave empty to keep the current name.', '留空则保留该账号现有的名称。'],
  setUpWords: [
    'Choose a password with at least {{min}} characters that’s hard to guess. This link works once.',
    '请设置至少 {{min}} 个字符且不易猜到的密码。此链接仅可使用一次。',
  ],
  repeat: ['Repeat password', '再次输入'],
  differs: ['The passwords don’t match.', '两次输入不一致。'],
  setUp: ['Set up and sign in', '设置并登录'],
  setUpSignOn: [
    'From now on you sign in with it, without a separate password. This link works once.',
    '之后即通过它登录，无需此处的密码。此链接仅可使用一次。',
  ],
  orSetPassword: ['or choose a password', '或设置密码'],
  orSetPasswordOfAdmins: ['or choose a password (admins only)', '或设置密码（仅限管理员）'],
  noLink: ['This address has no setup token. Open the complete link.', '此地址缺少设置令牌，请打开完整的链接。'],
  about: ['Open platform for EV-charging sites and entrance devices.', '充电站点与出入口设备的开放平台。'],
})
