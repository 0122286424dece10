package rest

import (
	"context"

	"axflow/api/gen"
)

// ListSettings is not made yet.
func (h *Handlers) ListSettings(_ context.Context, _ gen.ListSettingsRequestObject) (gen.ListSettingsResponseObject, error) {
	return nil, errUnmade
}

// SetSetting is not made yet.
func (h *Handlers) SetSetting(_ context.Context, _ gen.SetSettingRequestObject) (gen.SetSettingResponseObject, error) {
	return nil, errUnmade
}
