import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts(
  {
    views: 'Views',
    none: 'No view of this list is saved yet',
    saveThis: 'Save this view…',
    manage: 'Rename or delete…',
    saveTitle: 'Save this view',
    what: 'Filters, order and columns of this list are kept in your account. An admin can hand them over when the account ends.',
    name: 'Name',
    replaces: 'The view of this name is replaced.',
    saved: 'View saved',
    manageTitle: 'Saved views of this list',
    rename: 'Rename {{name}}',
    delete: 'Delete {{name}}',
    deleted: 'View deleted',
  },
  {
    views: '视图',
    none: '此列表还没有保存的视图',
    saveThis: '保存当前视图…',
    manage: '重命名或删除…',
    saveTitle: '保存当前视图',
    what: '此列表的筛选、排序和列将保存在您的账号中；账号停用或删除时，管理员可移交给他人。',
    name: '名称',
    replaces: '将替换同名视图。',
    saved: '视图已保存',
    manageTitle: '此列表的已存视图',
    rename: '重命名 {{name}}',
    delete: '删除 {{name}}',
    deleted: '视图已删除',
  },
)
