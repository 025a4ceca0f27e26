import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts({
  views: ['Views', '视图'],
  none: ['No saved views of this list', '此列表还没有保存的视图'],
  saveThis: ['Save this view…', '保存当前视图…'],
  manage: ['Rename or delete…', '重命名或删除…'],
  saveTitle: ['Save this view', '保存当前视图'],
  what: [
    'Saves the filters, sort order and columns of this list in your account. If your account is disabled or deleted, an admin can reassign your views.',
    '此列表的筛选、排序和列将保存在您的账号中；账号停用或删除时，管理员可移交给他人。',
  ],
  replaces: ['This replaces the existing view with this name.', '将替换同名视图。'],
  saved: ['View saved', '视图已保存'],
  manageTitle: ['Saved views of this list', '此列表的已存视图'],
  rename: ['Rename {{name}}', '重命名 {{name}}'],
  delete: ['Delete {{name}}', '删除 {{name}}'],
  deleteTitle: ['Delete view {{name}}?', '删除视图 {{name}}？'],
  deleteWords: [
    'The saved filters, sort order and columns are deleted. The list itself doesn’t change.',
    '该视图的筛选、排序和列将从您的账号中移除，列表本身不变。',
  ],
  deleteVerb: ['Delete view', '删除视图'],
  deleted: ['View deleted', '视图已删除'],
})
