package web

import "github.com/countersignhq/countersign/chat"

// What the page says from Go; package words has the texts. What only templates say is named there.
const (
	linePageHistory      = "page_history"
	linePageGrants       = "page_grants"
	linePageWorkspace    = "page_workspace"
	linePageConversation = "page_conversation"
	linePageSignIn       = "page_sign_in"

	linePageCharacters = "page_characters"
	linePageLines      = "page_lines"
	linePageInLines    = "page_in_lines"
	linePageComma      = "page_comma"

	linePageMayThread    = "page_may_thread"
	linePageMayRequester = "page_may_requester"
	linePageMayOther     = "page_may_other"
	linePageMayNobody    = "page_may_nobody"
	linePageMustAgree    = "page_must_agree"
)

// What became of a message or an answer.
const (
	linePageTooLarge       = "page_too_large"
	linePageWriteSomething = "page_write_something"
	linePageTooManyFiles   = "page_too_many_files"
	linePageTooMuchText    = "page_too_much_text"
	linePageTooMuchReason  = "page_too_much_reason"

	linePageDenied             = "page_denied"
	linePageDone               = "page_done"
	linePageCancelled          = "page_cancelled"
	linePageTaken              = "page_taken"
	linePageStillOpen          = "page_still_open"
	linePageStillOpenUnchecked = "page_still_open_unchecked"
	linePageNoted              = "page_noted"
	linePageKept               = "page_kept"
	linePageDecidedBy          = "page_decided_by"
	linePageDecidedAlready     = "page_decided_already"
	linePageEnded              = "page_ended"
	linePageRefused            = "page_refused"
	linePageNotOffered         = "page_not_offered"
	linePageNoQuestion         = "page_no_question"
	linePageNotUnderstood      = "page_not_understood"

	linePageGrantEnded       = "page_grant_ended"
	linePageRevoked          = "page_revoked"
	linePageWrongCode        = "page_wrong_code"
	linePageWorkspaceChanged = "page_workspace_changed"
	linePageChangesPublished = "page_changes_published"
)

// Signing in.
const (
	linePageFormOld        = "page_form_old"
	linePageTooManyTries   = "page_too_many_tries"
	linePageTokenNobody    = "page_token_nobody"
	linePageTokenAgent     = "page_token_agent"
	linePageAccountAgent   = "page_account_agent"
	linePageAccountNobody  = "page_account_nobody"
	linePageSignInStale    = "page_sign_in_stale"
	linePageSignInDeclined = "page_sign_in_declined"
	linePageSignInUnproven = "page_sign_in_unproven"
	linePageSignInAway     = "page_sign_in_away"
	linePageNotSignedIn    = "page_not_signed_in"
	linePageOneMoment      = "page_one_moment"
	linePageSignedOut      = "page_signed_out"
	linePageSignedOutHow   = "page_signed_out_how"
)

// What goes wrong.
const (
	linePageWrong                  = "page_wrong"
	linePageWrongLog               = "page_wrong_log"
	linePageNotRendered            = "page_not_rendered"
	linePageTemporalAway           = "page_temporal_away"
	linePageNoEngine               = "page_no_engine"
	linePageNoSuchCall             = "page_no_such_call"
	linePageOtherSite              = "page_other_site"
	linePageOtherSiteHow           = "page_other_site_how"
	linePageNothingHere            = "page_nothing_here"
	linePageStart                  = "page_start"
	linePageFileGone               = "page_file_gone"
	linePageFileAgain              = "page_file_again"
	linePageStale                  = "page_stale"
	linePageStaleHow               = "page_stale_how"
	linePageConversationUnreadable = "page_conversation_unreadable"
	linePageGrantsUnreadable       = "page_grants_unreadable"
	linePageHistoryUnreadable      = "page_history_unreadable"
	linePageCallUnreadable         = "page_call_unreadable"
	linePageCallUnseen             = "page_call_unseen"
	linePageWorkspaceUnreadable    = "page_workspace_unreadable"
)

// How a question or a step ended.
const (
	linePageSaidYes              = "page_said_yes"
	linePageSaidAlways           = "page_said_always"
	linePageSaidNo               = "page_said_no"
	linePageOutcomeAlready       = "page_outcome_already"
	linePageOutcomeChecked       = "page_outcome_checked"
	linePageOutcomeSaid          = "page_outcome_said"
	linePageOutcomeLate          = "page_outcome_late"
	linePageOutcomeCancelled     = "page_outcome_cancelled"
	linePageOutcomeApproved      = "page_outcome_approved"
	linePageOutcomeDenied        = "page_outcome_denied"
	linePageOutcomeTimeout       = "page_outcome_timeout"
	linePageOutcomeSuperseded    = "page_outcome_superseded"
	linePageOutcomeUndeliverable = "page_outcome_undeliverable"
	linePageOutcomeWithdrawn     = "page_outcome_withdrawn"
	linePageOutcomeGranted       = "page_outcome_granted"
)

// labels are what the buttons say.
var labels = map[chat.Action]string{
	chat.ActionYes: chat.LineButtonYes, chat.ActionNo: chat.LineButtonNo, chat.ActionAlways: chat.LineButtonAlways,
	chat.ActionDone: chat.LineButtonDone, chat.ActionCancel: chat.LineButtonCancel,
}
